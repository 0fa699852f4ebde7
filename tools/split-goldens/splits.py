#!/usr/bin/env python3
"""Writes how llama.cpp cuts texts into words, for every pre-tokenizer that it names.

usage: splits.py LLAMA texts.txt splits.jsonl

Its patterns are read from LLAMA/src/llama-vocab.cpp, and its own regular expressions run them: a program that is made
of LLAMA/src/unicode.cpp and compiled with c++. A line of the result is {"pre", "words"}; the words are the text. Of names
that mean the same patterns the first stands for all.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

DRIVER = r"""
#include "unicode.h"
#include <iostream>
#include <map>
static const std::map<std::string, std::vector<std::string>> PATTERNS = {
%s
};
int main() {
  std::string name, text;
  while (std::getline(std::cin, name, '\0') && std::getline(std::cin, text, '\0')) {
    for (const auto & word : unicode_regex_split(text, PATTERNS.at(name), false)) {
      if (!word.empty()) { // where a pattern matches nothing
        std::cout << word << '\0';
      }
    }
    std::cout << '\0';
  }
}
"""


def patterns(source):
    """C++ string literals of each pre-type."""
    found = {}
    body = source[source.index("switch (vocab.get_pre_type())") :]
    body = body[: body.index("std::vector<std::string> regex_exprs;")]
    for heads, block in re.findall(
        r"((?:(?:case LLAMA_VOCAB_PRE_TYPE_\w+|default):\s*)+)(.*?)break;", body, re.S
    ):
        uncommented = re.sub(r"^\s*//.*$", "", block, flags=re.M)
        if "byte_encode = false" in uncommented:
            continue
        literals = re.findall(r'^\s*("(?:[^"\\]|\\.)*")', uncommented, re.M)
        for kind in re.findall(r"PRE_TYPE_(\w+)", heads) or ["DEFAULT"]:
            found[kind] = literals
    return found


def names(source):
    """The first name of each pre-type."""
    found = {}
    for condition, kind in re.findall(
        r'((?:tokenizer_pre == "[^"]+"[\s|]*)+)\) \{\s*pre_type = LLAMA_VOCAB_PRE_TYPE_(\w+);', source
    ):
        found.setdefault(kind, re.findall(r'"([^"]+)"', condition)[0])
    return found


def build(llama, table, folder):
    source = os.path.join(folder, "splits.cpp")
    with open(source, "w") as file:
        lines = ['{"%s", {%s}},' % (name, ", ".join(literals)) for name, literals in table.items()]
        file.write(DRIVER % "\n".join(lines))
    program = os.path.join(folder, "splits")
    inner = os.path.join(llama, "src")
    units = [os.path.join(inner, unit) for unit in ("unicode.cpp", "unicode-data.cpp")]
    subprocess.run(["c++", "-O1", "-std=c++17", "-I", inner, source, *units, "-o", program], check=True)
    return program


def main(llama, texts_file, out_file):
    with open(os.path.join(llama, "src", "llama-vocab.cpp")) as file:
        source = file.read()
    by_kind = patterns(source)
    table = {}
    for kind, name in names(source).items():
        if kind in by_kind and by_kind[kind] not in table.values():
            table[name] = by_kind[kind]
    with open(texts_file) as file:
        texts = [re.sub(r"\\(?:u\w{4}|[\\trn])", lambda m: json.loads('"%s"' % m[0]), line.rstrip("\n")) for line in file]
    with tempfile.TemporaryDirectory() as folder:
        program = build(llama, table, folder)
        pairs = [(name, text) for name in sorted(table) for text in texts]
        given = "".join("%s\0%s\0" % pair for pair in pairs)
        answer = subprocess.run([program], input=given.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    with open(out_file, "w") as out:
        for (name, text), words in zip(pairs, answer.split("\0\0")):
            line = {"pre": name, "words": words.split("\0")}
            assert "".join(line["words"]) == text
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


main(*sys.argv[1:])
