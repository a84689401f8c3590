"""From a ledger to a score: answers, verifiers, latency, EC57, rewards, floors and exploits."""
