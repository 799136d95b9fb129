"""Prompt optimizers: better role prompts for a team under a budget, tested on problems they never saw.

`interface` says what a method gets and what it gives back, `methods` names them all, `running` runs a job.

A job:
    - what it is: `running`, `planning`, `protocol`, `specification`, `costs`, `knobs`; `run` starts it;
    - its team: `wiring`, `bundle`, `endpoints`, `rollouts`, `transcripts`, `scoring`;
    - its search: `search`, `charging`, `ledger`, `seeds`, `chat_text`, `curve`, `progress`;
    - validation and test: `phases`, `evaluations`, `deciding`, `rescoring`;
    - its files: `job`, `canonical`, `summary`, `optimized`; of several jobs: `aggregation`, `statistics`.

What methods share: `texts`, `fitting`, `reading`, `asking`, `extras`.

What they have of their own:
    - `gepa` and `mamut_gepa`: `evolution`;
    - `mipro`: `mipro_program`, `demonstrations`;
    - `mapro`: `mapro_prompts`, `mapro_reflection`, `belief`;
    - `maspo`: `maspo_prompts`, `maspo_trial`, `pairwise`;
    - `hivemind`: `shapley`, `lessons`;
    - `maspob`: `variants`, `styles`, `embedding`, `bandit`, `surrogate`;
    - `tavo`: `tavo_prompts`, `tavo_reflection`, `credit`, `overlay`.

For teaching and tests: `toy`, `toy_shapes`.
"""
