#!/usr/bin/env node
// The command mnem: runs the program of the package for this platform.

import { spawn } from "node:child_process";

import { MnemError } from "./errors.js";
import { program } from "./program.js";

try {
  const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.once("error", (err) => {
    console.error(`mnem: ${err.message}`);
    process.exitCode = 1;
  });
  child.once("close", (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exitCode = code ?? 1;
  });
} catch (err) {
  if (!(err instanceof MnemError)) throw err;
  console.error(`mnem: ${err.message}`);
  process.exitCode = 1;
}
