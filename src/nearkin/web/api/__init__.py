"""REST under /api/v1: operations, their types, and the OpenAPI document made from both."""
