"""What can be known of a candidate without running it."""
