"""Precision and recall of groups, versions and conflicts of a collection, against labels or exhaustive comparison."""
