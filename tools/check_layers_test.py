"""Tests of check_layers.py on small trees written for each case."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_layers

BASE = {
    "src/sparing/base/CMakeLists.txt": "sparing_module(base SOURCES a.cc)",
    "src/sparing/frame/CMakeLists.txt": "sparing_module(frame SOURCES a.cc\n  USES base # why\n)",
    "src/sparing/kernels/CMakeLists.txt": "sparing_module(kernels SOURCES a.cc USES frame)",
    "src/sparing/base/a.cc": '#include "sparing/base/a.h"\n#include <vector>\n',
    "include/sparing/base/a.h": "#pragma once\n#include <cstdint>\n",
    "src/sparing/kernels/a.cc": '#include "sparing/base/a.h"\n#include <hwy/highway.h>\n',
}


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def findings(self, files):
        for name, text in {**BASE, **files}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_layers.check(self.root)

    def assert_one(self, files, path, line, *words):
        findings = self.findings(files)
        self.assertEqual(len(findings), 1, [str(finding) for finding in findings])
        self.assertEqual((findings[0].path, findings[0].line), (path, line))
        for word in words:
            self.assertIn(word, findings[0].text)

    def test_a_tree_that_follows_the_arrows_is_clean(self):
        self.assertEqual(self.findings({}), [])

    def test_an_include_against_the_arrows(self):
        self.assert_one(
            {"src/sparing/base/b.cc": '\n#include "sparing/frame/f.h"\n'},
            "src/sparing/base/b.cc", 2, "'base' uses 'frame'", "only: nothing",
        )

    def test_an_include_of_a_sibling(self):
        self.assert_one(
            {"include/sparing/frame/f.h": '#include "sparing/kernels/k.h"'},
            "include/sparing/frame/f.h", 1, "'frame' uses 'kernels'", "only: base",
        )

    def test_an_arrow_of_the_table_must_be_declared(self):
        self.assert_one(
            {
                "src/sparing/metrics/CMakeLists.txt": "sparing_module(metrics SOURCES a.cc)",
                "src/sparing/metrics/a.cc": '#include "sparing/base/a.h"',
            },
            "src/sparing/metrics/a.cc", 1, "does not declare it", "src/sparing/metrics/CMakeLists.txt",
        )

    def test_a_declaration_against_the_arrows(self):
        self.assert_one(
            {"src/sparing/metrics/CMakeLists.txt": "\nsparing_module(metrics SOURCES a.cc USES base frame)"},
            "src/sparing/metrics/CMakeLists.txt", 2, "'metrics' uses 'frame'",
        )

    def test_a_cycle_of_declarations(self):
        findings = self.findings(
            {"src/sparing/base/CMakeLists.txt": "sparing_module(base SOURCES a.cc USES frame)"}
        )
        self.assertTrue(any("cycle: base -> frame -> base" in f.text for f in findings), findings)

    def test_the_table_itself_has_no_cycle(self):
        with self.assertRaisesRegex(ValueError, "cycle: a -> b -> a"):
            check_layers.closure({"a": ["b"], "b": ["a"]})
        self.assertEqual(check_layers.closure(check_layers.LAYERS)["frame"], {"base"})

    def test_a_module_outside_the_table(self):
        findings = self.findings(
            {
                "src/sparing/extra/CMakeLists.txt": "sparing_module(extra SOURCES a.cc)",
                "src/sparing/extra/a.cc": "#include <vector>",
                "src/sparing/frame/x.cc": '#include "sparing/nowhere/x.h"',
            }
        )
        self.assertEqual(
            [f.path for f in findings],
            ["src/sparing/extra/CMakeLists.txt", "src/sparing/extra/a.cc", "src/sparing/frame/x.cc"],
        )

    def test_a_third_party_header_in_a_public_header(self):
        for header in ("openvino/openvino.hpp", "nlohmann/json.hpp", "unistd.h"):
            with self.subTest(header):
                self.assert_one(
                    {"include/sparing/kernels/k.h": f"#include <{header}>"},
                    "include/sparing/kernels/k.h", 1, "public header", header,
                )

    def test_a_third_party_header_outside_its_module(self):
        self.assert_one(
            {"src/sparing/kernels/b.cc": "extern \"C\" {\n#include <libavutil/frame.h>\n}"},
            "src/sparing/kernels/b.cc", 2, "belongs to: io",
        )

    def test_an_unknown_third_party_header(self):
        self.assert_one(
            {"src/sparing/kernels/b.cc": "#  include  <fancy/lib.h>"},
            "src/sparing/kernels/b.cc", 1, "unknown header <fancy/lib.h>",
        )

    def test_system_headers_and_test_frameworks(self):
        self.assertEqual(
            self.findings(
                {
                    "src/sparing/base/b.cc": "#include <sys/mman.h>\n#include <pthread.h>",
                    "src/sparing/base/b_test.cc": "#include <gtest/gtest.h>",
                }
            ),
            [],
        )
        self.assert_one(
            {"src/sparing/base/c.cc": "#include <gtest/gtest.h>"},
            "src/sparing/base/c.cc", 1, "belongs to: tests",
        )

    def test_a_header_without_its_module(self):
        self.assert_one(
            {"src/sparing/base/b.cc": '#include "a.h"'},
            "src/sparing/base/b.cc", 1, 'write "sparing/base/a.h"',
        )

    def test_only_tests_may_use_the_fake_backend_and_only_when_declared(self):
        files = {
            "src/sparing/webnn/CMakeLists.txt": "sparing_module(webnn SOURCES a.cc USES kernels)",
            "src/sparing/backends/CMakeLists.txt":
                "sparing_module(backend_fake SOURCES f.cc USES webnn)\n"
                "sparing_module(backend_openvino SOURCES o.cc USES webnn PRIVATE openvino::runtime)",
            "src/sparing/models/CMakeLists.txt":
                "sparing_module(models SOURCES a.cc USES webnn TESTS a_test.cc TEST_USES backend_fake)",
            "src/sparing/models/a_test.cc": '#include "sparing/backends/fake.h"',
        }
        self.assertEqual(self.findings(files), [])
        files["src/sparing/models/a.cc"] = '#include "sparing/backends/fake.h"'
        self.assert_one(files, "src/sparing/models/a.cc", 1, "'models' uses 'backends'")

    def test_a_long_file_is_a_warning(self):
        findings = self.findings({"src/sparing/base/b.cc": "//\n" * 601})
        self.assertEqual([(f.warning, f.line) for f in findings], [(True, 601)])

    def test_exit_codes(self):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_layers.main([str(self.root / "empty")]), 2)
            self.findings({})
            self.assertEqual(check_layers.main([str(self.root)]), 0)
            self.findings({"src/sparing/base/b.cc": '#include "sparing/io/sink.h"'})
            self.assertEqual(check_layers.main([str(self.root)]), 1)


if __name__ == "__main__":
    unittest.main()
