"""The flow, one room a step: documents → features → signatures → search → verification → grouping.

A stage takes arrays or Arrow batches and gives arrays; it knows no other stage. Workflows chain them.
"""
