import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Ends with 1 if memory or latency grew, which proves nothing in so short a time beside other tests. */
test('the soak sends, samples, ends, and finds every acknowledged event once', async () => {
  const soak = join(import.meta.dirname, '../../bench/soak.ts')
  const args = [soak, '--minutes', '0.3', '--sample-seconds', '3']
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, (error, out, err) => resolve({ code: error?.code ?? 0, stdout: out, stderr: err }))
  })
  expect([0, 1], stdout + stderr).toContain(code)
  const [, acknowledged, stored] = /^Acknowledged (\d+) events, stored (\d+)\.$/m.exec(stdout)!
  expect(Number(acknowledged)).toBeGreaterThan(0)
  expect(stored).toBe(acknowledged)
  const samples = stdout.split('\n').filter((line) => /^ *\d+( +\d+){6}$/.test(line))
  expect(samples.length).toBeGreaterThanOrEqual(5)
  for (const sample of samples) {
    const [, memory, handles, connections, wal] = sample.trim().split(/ +/).map(Number)
    for (const value of [memory, handles, connections, wal]) expect(value).toBeGreaterThan(0)
  }
  expect(stdout).toMatch(/^Memory of the last third: \d+\.\d+ x/m)
  expect(stdout).toMatch(/^p99 of the last third: \d+\.\d+ x/m)
})
