// Measures the longest time for which one request within its bounds blocks the event loop, and memory under hostile
// bodies. See ../README.md.

import { loadavg } from 'node:os'
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { startBenchHub } from '../support/bench-hub.ts'
import { type Row, type Run, runFigure } from '../support/figure.ts'
import { type HeavyRequest, heavySettings, prepareHeavyRequests } from '../support/heavy-requests.ts'
import { underHostileBodies } from '../support/hostile-bodies.ts'
import { freePort, type Inspector, inspectProcess } from '../support/inspector.ts'
import { logProgress } from '../support/progress.ts'
import { median, rounded } from '../support/statistics.ts'

/**
 * Measures the processor time of the main thread in each turn of the event loop. Unlike the delay of a timer, it
 * excludes the time for which another process had the core.
 */
const script = `globalThis.turns = (() => {
  let longest = 0
  let before = 0
  let running = false
  const nowMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000 }
  const look = () => {
    const now = nowMs()
    longest = Math.max(longest, now - before)
    before = now
    if (running) setImmediate(look)
  }
  return {
    begin() { longest = 0; before = nowMs(); running = true; setImmediate(look) },
    end() { running = false; look(); return longest },
  }
})()`

/** Measures turns of the event loop of another process. */
interface TurnWatch {
  begin(): Promise<void>
  /** Returns the longest turn since `begin`, in milliseconds of processor time. */
  end(): Promise<number>
}

async function watchTurns(inspector: Inspector): Promise<TurnWatch> {
  await inspector.evaluate(script)
  return {
    begin: () => inspector.evaluate('globalThis.turns.begin()'),
    end: () => inspector.evaluate<number>('globalThis.turns.end()'),
  }
}

const idleMs = 2000
const targetMs = 50

interface Found {
  request: HeavyRequest
  status: number
  blocks: number[]
}

async function measure(run: Run) {
  const inspectPort = await freePort()
  const hub = await startBenchHub({ nodeOptions: [`--inspect=127.0.0.1:${inspectPort}`], env: heavySettings })
  const agent = new Agent({ connections: 8 })
  let keys = 0

  async function send({ method, path, text, headers, plain }: HeavyRequest) {
    const answer = await request(`${hub.url}${path}`, {
      dispatcher: agent,
      method: method as 'POST',
      body: plain ? text : gzipSync(text, { level: 1 }),
      headers: {
        'content-type': 'application/json',
        ...(!plain && { 'content-encoding': 'gzip', 'idempotency-key': `heavy-${keys++}` }),
        ...headers,
      },
    })
    return { status: answer.statusCode, body: await answer.body.text() }
  }

  const inspector = await inspectProcess(inspectPort)
  const turns = await watchTurns(inspector)
  await turns.begin()
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const idle = rounded(await turns.end())
  logProgress(`at rest the longest turn takes ${idle} ms, load average ${loads()}`)

  const only = run.flag('operation')?.split(',')
  const requests = await prepareHeavyRequests(hub, send)
  const found = new Map<string, Found>()
  for (let round = 0; round < run.rounds; round++) {
    for await (const heavy of requests.round()) {
      if (only !== undefined && !only.includes(heavy.operation)) continue
      await inspector.collectGarbage()
      await turns.begin()
      const answer = await send(heavy)
      const block = await turns.end()
      requests.answered(heavy, answer)
      const key = `${heavy.operation} ${heavy.shape}`
      const entry = found.get(key) ?? { request: heavy, status: answer.status, blocks: [] }
      entry.blocks.push(block)
      found.set(key, entry)
      if (answer.status >= 500 || answer.status === 429 || isBeyondBounds(answer)) {
        throw new Error(`${key}: answered ${answer.status} ${answer.body}`)
      }
    }
    logProgress(`round ${round + 1}: load average ${loads()}`)
  }
  const measured = [...found.values()].map(rowOf).sort((a, b) => b['block ms'] - a['block ms'])
  const worst = [...Map.groupBy(measured, ({ operation }) => operation).values()].map(([first]) => first!)

  const attack = await underHostileBodies(hub, send, requests.bearer, run.quick ? 1 : 5)
  inspector.close()
  await agent.close()
  await hub.stop()
  return {
    outcomes: [
      {
        figure: 'longest block of the event loop by one request within its bounds, the worst body of any operation',
        reference: 'none',
        unit: 'ms' as const,
        value: worst[0]!['block ms'],
        spread: { min: worst[0]!['from ms'], max: worst[0]!['to ms'] },
        bound: 'max' as const,
        target: targetMs,
      },
      {
        figure: 'resident memory of the process under hostile bodies, highest',
        reference: 'none',
        unit: 'MB' as const,
        value: attack.rssMb,
        bound: 'max' as const,
        target: 700,
      },
    ],
    tables: {
      'The worst body of every operation, sent with a key, in gzip': worst as Row[],
      'Hostile bodies, eight at a time': attack.rows,
    },
    remarks: [
      `${found.size} bodies were sent in each round. A block is the processor time of the main thread in one turn of its ` +
        `event loop; at rest the longest was ${idle} ms. The load average of the machine was ${loads()} at the end.`,
    ],
  }
}

function rowOf({ request: { operation, shape, text }, status, blocks }: Found) {
  return {
    operation,
    shape,
    MB: rounded(text.length / 1e6),
    answer: status,
    'block ms': rounded(median(blocks)),
    'from ms': rounded(Math.min(...blocks)),
    'to ms': rounded(Math.max(...blocks)),
  }
}

/** Returns true if the body exceeded a bound: such a request costs no more than reading up to the bound. */
function isBeyondBounds({ status, body }: { status: number; body: string }): boolean {
  return status === 413 && body.includes('payload-too-large')
}

const loads = () =>
  loadavg()
    .map((each) => rounded(each))
    .join(', ')

await runFigure({
  name: 'bodies',
  title: 'The worst body of every operation',
  seconds: 1,
  rounds: 3,
  flags: ['operation'],
  measure,
})
