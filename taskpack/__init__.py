"""taskpack: GPU-kernel tasks as data, compiled into harnesses that judge candidate kernels."""

__version__ = "0.1.0"
