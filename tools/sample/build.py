"""Write the sample and the demo into `data_cache/sample`: `python tools/sample/build.py`."""

import json
from pathlib import Path

from sample_problems.rows import FILES, row

FOLDER = Path(__file__).parents[2] / "data_cache" / "sample"

if __name__ == "__main__":
    for name, problems in FILES.items():
        text = "".join(json.dumps(row(problem), ensure_ascii=False) + "\n" for problem in problems)
        (FOLDER / name).write_text(text, encoding="utf-8")
