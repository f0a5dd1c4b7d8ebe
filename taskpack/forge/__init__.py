"""The optimisation pipeline: stages, the loop of propose, verify and refine, and who proposes."""
