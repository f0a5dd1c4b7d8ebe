"""Runs as folders: what was asked, what was judged, in files that are never rewritten."""
