"""Results as the program wrote and judged them: records, judgements, duels, steps, data sheets. Nothing here draws or compares."""
