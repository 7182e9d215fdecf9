"""Stages of the flow, one package each: documents → features → signatures → search → verification → grouping.

A stage converts arrays or Arrow batches to arrays; it does not know other stages.
"""
