#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds tagreport's JSON to its schema. Input: the build folder. Output: exit status 0 or a message.

Validated: every golden case's report, and what tagreport writes for one and for two generated trace files. The schema
is taken from `tagreport --json-schema` and made strict: a member that it does not name is an error here.
"""
import json
import os
import subprocess
import sys
import tempfile

import jsonschema


def strict(schema):
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=120, **options).stdout


def main(build):
    tagreport = os.path.join(build, "bin", "tagreport")
    printed = json.loads(run(tagreport, "--json-schema"))
    source = os.path.join(os.path.dirname(__file__), "../../include/blktag/report.schema.json")
    with open(source, encoding="utf-8") as file:
        assert printed == json.load(file), "tagreport prints another schema than the tree's"
    jsonschema.Draft202012Validator.check_schema(printed)
    validator = jsonschema.Draft202012Validator(strict(printed))
    documents = {}
    with tempfile.TemporaryDirectory() as folder:
        run(os.path.join(build, "tests", "golden", "golden_report"), "--gtest_filter=*matches*",
            env={**os.environ, "BLKTAG_TEST_JSON_DIR": folder})
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                documents[name] = json.load(file)
        trace = os.path.join(folder, "generated.tag")
        run(os.path.join(build, "dev", "tracegen"), "--ios", "20000", "--queues", "2", "--waits-every", "9", trace)
        documents["tagreport"] = json.loads(run(tagreport, "--json", trace))
        documents["tagreport, two files"] = json.loads(run(tagreport, "--json", trace, trace))
    assert len(documents) >= 5, sorted(documents)
    broken = json.loads(json.dumps(documents["tagreport"]))
    del broken["books"]["lost"]
    assert not validator.is_valid(broken), "the schema lets a report without books.lost pass"
    failed = 0
    for name, document in documents.items():
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        if error:
            failed += 1
            print(f"{name}: {error.json_path}: {error.message[:300]}")
    print(f"{len(documents)} reports, {failed} not valid")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
