import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type BatcherOptions, HubClient, type TelemetryEvent } from '../../sdk/typescript/src/index.ts'
import { eventSink } from './event-sink.ts'
import { runNode } from './run-node.ts'
import { answerProblem } from './stub-hub.ts'

export const known = {
  skill_id: 's',
  skill_version: '1.0.0',
  archetype_id: 'a',
  user_id: 'user:k',
  llm_platform: 'claude',
}
const measured = { ts: '2026-01-01T00:00:00Z', success: true, latency_ms: 1, tokens_in: 1, tokens_out: 1 }
export const event = (session_id: string): TelemetryEvent => ({
  ...known,
  ...measured,
  cost_usd_estimate: 0,
  session_id,
})
export const numbers = (count: number) => Array.from({ length: count }, (_, at) => `e${at}`)

export function connect(baseUrl: string, telemetry: BatcherOptions = {}) {
  const hub = new HubClient({ baseUrl, tenant: 'acme', accessToken: 't', telemetry })
  onTestFinished(() => void hub.close({ timeoutMs: 0 }))
  return hub
}

export async function freshFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'hub-spool-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a program that imports the SDK, and returns what it printed. */
export async function runProgram(code: string) {
  const source = new URL('../../sdk/typescript/src/index.ts', import.meta.url).href
  const program = join(await freshFolder(), 'program.mjs')
  await writeFile(program, `import { HubClient } from ${JSON.stringify(source)}\n${code}`)
  return (await runNode([program])).stdout
}

/** A sink that answers 503 until it is up. */
export async function sinkThatIsDown() {
  const state = { isDown: true }
  const sink = await eventSink((response) => {
    if (state.isDown) down(response)
    return state.isDown
  })
  const up = () => {
    state.isDown = false
  }
  return { ...sink, up }
}

export const down = answerProblem(503, 'hub-unavailable')
