#!/usr/bin/env bash
# `make demo`: three candidates, three verdict tables, in a temporary folder. Takes the folder in which `taskpack` lies.
set -euo pipefail
export PATH="$1:$PATH"
packs=$(cd "$(dirname "$0")/../packs/arena" && pwd)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
refused() { # a candidate that a gate must stop: exit 1
  printf '$ %s\n' "$*"
  local code=0
  "$@" || code=$?
  [ "$code" = 1 ] || { echo "error: this candidate should have been refused (exit 1), and the exit code is $code" >&2; exit 70; }
}

compiler_package() {
  case "$(. /etc/os-release 2>/dev/null; echo "${ID:-} ${ID_LIKE:-}")" in
    *debian*|*ubuntu*) echo 'apt install g++' ;;
    *fedora*|*rhel*) echo 'dnf install gcc-c++' ;;
    *suse*) echo 'zypper install gcc-c++' ;;
    *arch*) echo 'pacman -S gcc' ;;
    *alpine*) echo 'apk add g++' ;;
    *) echo 'the package of g++ or clang' ;;
  esac
}

if command -v g++ >/dev/null || command -v clang++ >/dev/null; then
  say '1. A new task, HIP to HIP, judged on the CPU: the kernel is emulated, so there is a verdict but no speed'
  run taskpack new hip2hip softmax
  cd softmax
  run taskpack build --target cpu
  run taskpack run --target cpu
  cd ..
  say '2. An optimised C++ candidate: native, so there is a speedup, with its 95 % interval'
  run taskpack run arena/cpp2cpp-softmax --candidate "$packs/cpp2cpp-softmax/examples/vector-exp"
  say '3. A candidate that is right on every size it was shown, and wrong on others'
  refused taskpack run arena/cpp2cpp-softmax --candidate "$packs/cpp2cpp-softmax/examples/whole-tiles"
else
  say "This machine has neither g++ nor clang++, which HIP and C++ tasks need ($(compiler_package)). Triton instead, interpreted:"
  say '1. A new task, Triton to Triton'
  run taskpack new triton2triton softmax
  cd softmax
  run taskpack build
  run taskpack run
  cd ..
  say '2. A candidate that reads each element once'
  run taskpack run arena/triton2triton-softmax --candidate "$packs/triton2triton-softmax/examples/one-reading"
  say '3. A candidate that is right on every size it was shown, and wrong on others'
  mkdir wrong
  sed 's|element_ty), mask=first + at < cols)|element_ty), mask=first + at < cols // 64 * 64)|' "$packs/triton2triton-softmax/kernel.py" >wrong/kernel.py
  refused taskpack run arena/triton2triton-softmax --candidate wrong
fi

say 'Try next:'
cat <<'NEXT'
  . .venv/bin/activate
  taskpack new cpp2cpp softmax && cd softmax   # a task of your own; its README says what to do
  taskpack run --candidate FOLDER              # judge your kernel.cpp
  taskpack check                               # break pack.toml, and see what is said of it
  taskpack run suites/first-light --agent replay   # the arena: an agent on sixteen tasks
  taskpack optimize arena/triton2triton-softmax --agent tune   # the pipeline: step by step, each step judged
  taskpack swap models/llama --with hf-llama-rmsnorm=DIR   # production: a kernel in its whole model; needs transformers: docs/tutorial.md, 8
  docs/tutorial.md                             # the long way round
NEXT
