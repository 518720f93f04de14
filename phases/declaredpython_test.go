package phases

import (
	"strings"
	"testing"
)

// TestPythonDeclarations: what a test does is what stands behind the colon of its def, on that line or below it.
func TestPythonDeclarations(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"class B(TestCase):\n    def test_b(self): self.assertEqual(f(), 1)\n    def test_c(self): pass\n":          "test_b, test_c (empty)",
		"async def test_a(): await f()\nasync def test_b(): ...\ndef test_c(): assert x\ndef test_d(): raise E":     "test_a, test_b (empty), test_c, test_d",
		"def test_a(self, x: int = f(1)) -> dict[str, int]: pass\ndef test_b(self, x: int = 1) -> None: assert x":   "test_a (empty), test_b",
		"def test_a(self): x = 1; self.assertEqual(x, 1)\ndef test_b(self): x = 1; y = 2  # f()\n":                  "test_a, test_b (empty)",
		"@patch(\"m.f\")\ndef test_a(f): check(f)\n@patch(\"m.f\")\ndef test_b(f): pass\n":                          "test_a, test_b (empty)",
		"def test_a(\n    x: int = f(1),  # one: (1\n) -> None:\n    pass\ndef test_b(\n    x,\n):\n    assert x\n": "test_a (empty), test_b",
		"def test_a(self): self.assertEqual(\n    f(), 1)\ndef test_b(self):\n    \"\"\"Says nothing: yet.\"\"\"\n": "test_a, test_b (empty)",
		"def test_a(x=\")\"):\n    assert x\ndef test_b(x=lambda: f(1)): x\n":                                       "test_a, test_b (empty)",
	} {
		var got []string
		for _, d := range declarations("test_a.py", []byte(src)) {
			if d.empty {
				d.name += " (empty)"
			}
			got = append(got, d.name)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s\n%s, want %s", src, text, want)
		}
	}
}
