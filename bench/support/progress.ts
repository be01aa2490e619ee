/** Logs progress to stderr: the last line of stdout is the result. */
export function logProgress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
