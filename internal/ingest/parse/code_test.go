package parse

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// outline writes the sections of source code with the lines of their blocks.
func outline(d *Document) []string {
	var out []string
	for _, line := range shown(d) {
		place, _, _ := strings.Cut(line, " ")
		if line[0] == '#' {
			place = line[2:]
		}
		out = append(out, place)
	}
	return out
}

// sourceTest is a file, and the lines of its declarations.
type sourceTest struct {
	format  Format
	in      string
	want    []string
	imports []string
}

var sourceTests = map[string]sourceTest{
	"python": {Python, `"""Weighs
def not_this(): barrels."""
import os.path
from .scales import (
    Scale,
)

LIMIT = 3  # def nor_this():

# How heavy.
@cached
def weigh(
    barrel,
) -> int:
    """Doc.

def nor_that():
    """
    def inner():
        pass

    return 1

class Cask(Barrel):
    size = 1

    async def fill(self):
        pass

    # no doc

    def empty(self): pass
x = """
class No:
"""
if __name__ == "__main__":
    weigh(None)
`, []string{"1-8", "def weigh", "10-22", "class Cask", "24-25", "class Cask > def fill", "27-28", "30-30",
		"class Cask > def empty", "32-32", "33-37"},
		[]string{"import:os/path", "import:./scales"}},
	"javascript": {JavaScript, `import { a } from './a.js';
import React from 'react';
const b = require("../b");
/* function no() {
function no2() {} */
const s = ` + "`" + `
function no3() {}
` + "`" + `;
/** Doc. */
export default async function weigh(x) {
  if (x) {
    return { a: 1 };
  }
}
export const fill = async (a) => {
  function inner() {}
};

@Component({})
export class Cask extends B {
  constructor(private a: string) {
    super();
  }

  // size of it
  static get size(): number {
    return 1;
  }
  #hidden<T>(a: T) {}
}
type Size = 'a' | 'b';
fill();
`, []string{"1-8", "function weigh", "9-14", "const fill", "15-17", "class Cask", "19-20", "class Cask > method constructor", "21-23",
		"class Cask > method size", "25-28", "class Cask > method #hidden", "29-29", "30-30", "type Size", "31-31", "32-32"},
		[]string{"import:./a.js", "import:./../b"}},
	"java": {Java, `package a;

import java.util.List;
import static a.b.C.d;

/**
 * Doc.
 */
@Entity
public final class Cask<T> extends B
    implements I {
  private int x = f(1);
  enum Size { A("x"), B }

  public Cask() {
    this.x = 1;
  }

  @Override
  protected List<String> fill(int a,
      int b) throws E {
    if (a) { return null; }
  }
}
`, []string{"1-4", "class Cask", "6-12", "class Cask > enum Size", "13-13", "class Cask > method Cask", "15-17",
		"class Cask > method fill", "19-23", "24-24"},
		[]string{"import:java/util/List", "import:a/b/C/d"}},
	"rust": {Rust, `use crate::scales::Scale;
mod tests;

/// Doc.
#[derive(Debug)]
pub struct Cask<'a> {
    name: &'a str,
}

impl<'a> Fill for Cask<'a> {
    pub(crate) async fn fill<T>(&self, t: T)
    where
        T: Copy,
    {
        let s = "fn no() {
fn no2() {}";
    }
}
fn main() {}
`, []string{"1-2", "struct Cask", "4-8", "impl Fill for Cask<'a>", "10-10", "impl Fill for Cask<'a> > fn fill", "11-17", "18-18", "fn main", "19-19"},
		[]string{"import:./scales", "import:./tests"}},
	"c": {C, `#include <stdio.h>
#include "cask.h"

struct cask {
	int size;
};

/* Doc. */
static int
weigh(struct cask *c)
{
#ifdef X
	goto out;
#endif
out:
	return 'x';
}
int main(int argc, char **argv) {
	return weigh(0);
}
`, []string{"1-2", "struct cask", "4-6", "8-17", "function main", "18-20"}, []string{"import:./cask.h"}},
	"c++": {C, `namespace a {
template <typename T>
class Cask : public B {
 public:
  Cask(int a) : a_(a) {}
  virtual int fill() const = 0;

 private:
  // Doc.
  int size() {
    return 1;
  }
};

int Cask::fill(const std::string& s) {
  return 1;
}
}  // namespace a
`, []string{"namespace a", "1-1", "class Cask", "2-4", "class Cask > function Cask", "5-5", "6-8", "class Cask > function size", "9-12", "13-13",
		"function Cask::fill", "15-17", "18-18"}, nil},
	"c#": {CSharp, `using System;
namespace A.B
{
    /// <summary>Doc.</summary>
    [Serializable]
    public class Cask : B
    {
        public int Size { get; set; }
        public Cask(int a) : base(a) { }

        protected async Task<int> Fill<T>(T a) where T : B
        {
            return 1;
        }
    }
}
`, []string{"1-1", "namespace A.B", "2-3", "namespace A.B > class Cask", "4-7", "namespace A.B > class Cask > property Size", "8-8",
		"namespace A.B > class Cask > method Cask", "9-9", "namespace A.B > class Cask > method Fill", "11-14", "15-15", "16-16"}, nil},
	"ruby": {Ruby, `require 'json'
require_relative 'lib/scales'

# Doc.
module A
  class Cask < B
    def fill(a)
      x = <<~TEXT
def no
      TEXT
    end

    def self.size = 1
  end
end
fill
`, []string{"1-2", "module A", "4-5", "module A > class Cask", "6-6", "module A > class Cask > def fill", "7-11",
		"module A > class Cask > def self.size", "13-13", "14-14", "15-15", "16-16"}, []string{"import:./lib/scales"}},
	"php": {PHP, `<?php
use A\B\Cask;
require_once __DIR__ . '/lib/scales.php';

/** Doc. */
#[Attr]
final class Barrel extends Cask
{
    public function fill(int $a): int
    {
        return "
function no() {}";
    }
}
function size() { return 1; }
`, []string{"1-3", "class Barrel", "5-8", "class Barrel > function fill", "9-13", "14-14", "function size", "15-15"},
		[]string{"import:A/B/Cask", "import:lib/scales.php"}},
	"shell": {Shell, `#!/bin/sh
. ./lib.sh

# Doc.
fill() {
	cat <<EOF
size() {
}
EOF
	echo "a
b"
}
function size {
	echo ${#x}
}
fill
`, []string{"1-2", "function fill", "4-12", "function size", "13-15", "16-16"}, []string{"import:./lib.sh"}},
}

func TestSource(t *testing.T) {
	for name, test := range sourceTests {
		t.Run(name, func(t *testing.T) {
			d := parsed(t, test.format, test.in)
			must.Same(t, outline(d), test.want)
			chunks := d.Chunks(nil)
			if !slices.Equal(chunks[0].Links, test.imports) {
				t.Errorf("imports %q, want %q", chunks[0].Links, test.imports)
			}
			lossless(t, test.in, chunks, 0)
		})
	}
}

// TestLongGo reads Go that is too long for a tree: generated tables, most of the time.
func TestLongGo(t *testing.T) {
	text := "package a\n\nimport \"b\"\n\n// Doc.\nvar table = []int{\n" + strings.Repeat("\t1,\n", maxGo/4) + "}\n\n" +
		"func (t *T) Do() {\n\treturn '\"'\n}\n\ntype T struct{}\n"
	d := parsed(t, Go, text)
	var titles []string
	for _, s := range d.Sections {
		titles = append(titles, s.Title)
	}
	if !slices.Equal(titles, []string{"var table", "func (t *T) Do", "type T"}) {
		t.Errorf("%q", titles)
	}
	lossless(t, text, d.Chunks(nil), 0)
}

// TestSourceHostile reads what is expensive for scanners that go back, and what never ends.
func TestSourceHostile(t *testing.T) {
	const n = 1 << 17
	squeeze := func(s string) int { return len(strings.Join(strings.Fields(s), "")) }
	for _, piece := range []string{"(", "{", "\"", "'", "`", "/*", "/* */", "#", "//", "\n", " ", "\t\n", "def a\n", "class A:\n", " class A {\n", "fn a() {\n",
		"<<A ", "<<A\n", "a ", "\\", "template <", "\"\"\"", "@a\n", "#a\n", "import a\n", "import a.b.c;\n", "from 'a", "public ", "void f(", "}\n", "end\n", "a::", "impl<"} {
		text := strings.Repeat(piece, n/len(piece))
		for format := range languages() {
			begin := time.Now()
			d, err := Parse(format, text, nil)
			if err != nil {
				continue // out of bounds
			}
			all := 0
			for _, c := range d.Chunks(nil) {
				all += squeeze(c.Text)
			}
			must.Equal(t, all, squeeze(text), piece, " as ", format, ": text was lost")
			if took := time.Since(begin); took > 10*time.Second { // some .1 s on an idle machine
				t.Errorf("%q as %s took %s", piece, format, took)
			}
		}
	}
}

// FuzzSource reads any text in all languages: no line is lost.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"class A:\n  def b(self):\n    '''\n", "/* */ class A {\n  b() {\n  }\n}\nc\n", "# a\ndef b\n  <<~X\nX\nend\n",
		"impl A {\n// c\nfn b() {}\n}\n", "namespace a {\n#if\nint f()\n{\n}\n}\n", "f() {\n<<E\nE\n}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text, err := Decode([]byte(in))
		if err != nil {
			return
		}
		for format := range languages() {
			d, err := Parse(format, text, nil)
			if err != nil {
				t.Skip(err)
			}
			if chunks := d.Chunks(nil); Tokens(text) < MaxTokens { // no line is divided
				lossless(t, text, chunks, 0)
			}
		}
	})
}

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a/b_test.go": true, "a/b.go": false, "test_x.py": true, "x/tests/helper.py": true, "conftest.py": true,
		"src/app.spec.ts": true, "src/app.ts": false, "src/latest.ts": false, "src/UserTest.java": true,
		"Contest.java": false, "models/user_spec.rb": true, "docs/tests/plan.md": false, "contest_test.md": false,
	} {
		must.Equal(t, IsTest(name), want, name)
	}
}
