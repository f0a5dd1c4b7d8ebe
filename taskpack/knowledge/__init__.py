"""Rules on files: for people, before anything is built or run."""
