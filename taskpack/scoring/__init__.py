"""What evidence is worth: policies, aggregates and comparisons, as pure functions of what harnesses said."""
