"""What travels inside a harness: judge, workers, clock, comparison and languages, on the standard library and torch alone."""
