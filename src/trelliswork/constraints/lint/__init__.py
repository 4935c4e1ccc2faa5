"""Findings about sets of rules: contradictions, dead rules, rules that others imply."""
