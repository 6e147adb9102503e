# SPDX-License-Identifier: PostgreSQL
"""The examples of docs/python.md, with what they say in comments."""

import ast
import pathlib
import re
import unittest

import bloomfam

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"


class TestExamples(unittest.TestCase):
    def test_the_page(self):
        # what the first example is given
        names = {"value": bytes(bloomfam.Filter.build(range(50), "int")), "keys": [1, 2, 500]}
        compared = 0
        for example in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M):
            try:
                compared += self.run_example(example, names)
            except ImportError as error:
                if error.name not in ("pandas", "numpy"):
                    raise
        self.assertGreaterEqual(compared, 3)

    def run_example(self, example, names):
        """Runs an example, and returns how many of its lines say what they give: True, False, or a list."""
        compared = 0
        for line in example.splitlines():
            code, _, comment = line.partition("  # ")
            says = re.fullmatch(r" *(True|False|\[[^]<]*\])", "  " + comment)
            if says is None:
                exec(line, names)
                continue
            found = eval(code, names)
            expected = ast.literal_eval(says.group(1))
            self.assertEqual(list(found) if isinstance(expected, list) else found, expected, line)
            compared += 1
        return compared


if __name__ == "__main__":
    unittest.main()
