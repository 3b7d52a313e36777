// What the tests of pure functions share.

declare const process: { exitCode?: number };

let checks = 0;

/** same fails the run unless two values have the same JSON form. */
export function same(got: unknown, want: unknown, what: string): void {
  checks++;
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) {
    process.exitCode = 1;
    console.log(`${what}:\n  got  ${a}\n  want ${b}`);
  }
}

/** done tells how much was looked at, and fails a run that looked at nothing. */
export function done(): void {
  console.log(`${checks} checks`);
  if (checks === 0) process.exitCode = 1;
}
