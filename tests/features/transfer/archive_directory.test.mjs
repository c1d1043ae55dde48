import assert from "node:assert/strict";
import { test } from "node:test";

import { hasManifest } from "../../../features/transfer/static/chat/transfer/import_dialog.js";

const text = new TextEncoder();
const join = (...parts) => new Blob(parts.map((part) => (typeof part === "string" ? text.encode(part) : part)));

/** The entry of a zip's directory; its 42 bytes are such that a decoder of UTF-8 would count them otherwise. */
const entry = (name) => join("PK\x01\x02", new Uint8Array(42).fill(0xe2), name);
const END = new Uint8Array(22);

test("an archive of ours has its manifest at the top", async () => {
  assert.equal(await hasManifest(join("PK", entry("files/1"), entry("manifest.json"), END)), true);
  assert.equal(
    await hasManifest(join(new Uint8Array(5_000_000), entry("manifest.json"), new Uint8Array(65_000))),
    true,
  );
});

test("a zip of ChatGPT is none of ours, whatever its names and texts contain", async () => {
  const names = ["conversations.json", "export_manifest.json", "a/manifest.json"];
  assert.equal(await hasManifest(join("PK manifest.json", ...names.map(entry), END)), false);
  assert.equal(await hasManifest(join("PK")), false);
  assert.equal(await hasManifest(join("")), false);
});
