// The tools with the AI SDK itself, and a model that answers as written here.

import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { memoryTools } from "../src/ai.js";
import { memoryOf } from "./support.js";

type Step = { tool: string; input: object } | string;

/** Returns a model that calls the tools of a list, one after the other, and then says a text. */
function modelOf(steps: Step[]): { model: MockLanguageModelV3; seen: unknown[] } {
  const seen: unknown[] = [];
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  let at = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      seen.push(prompt.at(-1)?.content);
      const step = steps[at++]!;
      const call = typeof step === "string" ? undefined : step;
      return {
        content: call
          ? [{ type: "tool-call" as const, toolCallId: `call-${at}`, toolName: call.tool, input: JSON.stringify(call.input) }]
          : [{ type: "text" as const, text: String(step) }],
        finishReason: { unified: call ? "tool-calls" as const : "stop" as const, raw: undefined },
        usage, warnings: [],
      };
    },
  });
  return { model, seen };
}

test("a model remembers, recalls and forgets", async (t) => {
  const memory = await (await memoryOf(t)).open();
  const first = await memory.remember("Alice leads the infra team");
  const { model } = modelOf([
    { tool: "remember", input: { text: "Billing runs on Stripe", type: "decision", tags: ["billing"] } },
    { tool: "recall", input: { query: "what does billing run on", limit: 1 } },
    { tool: "forget", input: { ids: [first.id], reason: "left" } },
    "done",
  ]);
  const done = await generateText({ model, prompt: "go", tools: memoryTools(memory), stopWhen: stepCountIs(8) });
  assert.equal(done.text, "done");
  const results = done.steps.flatMap((s) => s.toolResults.map((r) => r.output as Record<string, unknown>));
  assert.equal(results[0]?.action, "added");
  assert.equal(results[1]?.verdict, "known");
  assert.match((results[1]?.items as { text: string }[])[0]!.text, /Billing runs on Stripe/);
  assert.deepEqual(results[2], { forgotten: [first.id] });
  assert.deepEqual((await memory.recall("who leads infra")).items.filter((i) => i.id === first.id), []);
});

test("errors of the memory, and input that does not fit, reach the model", async (t) => {
  const memory = await (await memoryOf(t)).open();
  const { model, seen } = modelOf([
    { tool: "remember", input: { text: "the token is ghp_0123456789abcdefghij0123456789abcdef" } },
    { tool: "forget", input: { ids: ["nothing like it"] } },
    "sorry",
  ]);
  const done = await generateText({ model, prompt: "go", tools: memoryTools(memory), stopWhen: stepCountIs(5) });
  const errors = done.steps.flatMap((s) => s.content).filter((p) => p.type === "tool-error").map((p) => String(p.error));
  assert.equal(errors.length, 2);
  assert.match(errors[0]!, /\[refused\]/);
  assert.match(errors[1]!, /\[not_found\]/);
  assert.match(JSON.stringify(seen.at(-1)), /not_found/);
});

test("tools that only read", async (t) => {
  const memory = await (await memoryOf(t)).open();
  assert.deepEqual(Object.keys(memoryTools(memory, { readOnly: true })), ["recall"]);
});
