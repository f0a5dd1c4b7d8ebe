"""Agents at work: what they are told, where they work, how they are stopped, and what is made of what they leave."""
