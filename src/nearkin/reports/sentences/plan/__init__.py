"""What ``nearkin plan`` says."""
