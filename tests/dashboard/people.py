"""Who sits before the dashboard of a server with tokens."""

ALICE = "alice-token-0123456789"
BOB = "bob-token-9876543210"
OPERATOR = "operators-token-5647382910"
THREE = f"alice:{ALICE},bob:{BOB},olga+operator:{OPERATOR}"
