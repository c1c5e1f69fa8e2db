"""The search for better parameters of a policy, and its verdict."""
