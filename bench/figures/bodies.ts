// The longest time for which one request within its bounds holds the event loop, and memory under hostile bodies. See ../README.md.
import { readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { bodyBounds } from '../../contract/limits.ts'
import { type Operation, operations } from '../../contract/operations.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { hubCommand } from '../../tests/support/hub-process.ts'
import { accessToken, startBenchHub } from '../support/bench-hub.ts'
import { type Row, type Run, runFigure } from '../support/figure.ts'
import { batchShapes, eventShapes, listShapes, recordShapes, scimShapes, shapesOf } from '../support/heavy-bodies.ts'
import { freePort, inspectProcess } from '../support/inspector.ts'
import { say } from '../support/progress.ts'
import { median, rounded } from '../support/statistics.ts'

const tenant = 'bench'
const operatorToken = 'operator-of-this-benchmark'
const idleMs = 2000

/**
 * The processor time of the main thread in each turn of the event loop. Unlike the delay of a timer it does not count the
 * time for which another process had the core.
 */
const watchTurns = `globalThis.turns = (() => {
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

interface Sent {
  operation: string
  shape: string
  method: string
  path: string
  text: string
  headers: Record<string, string>
}

async function measure(run: Run) {
  const inspectPort = await freePort()
  const hub = await startBenchHub({
    nodeOptions: [`--inspect=127.0.0.1:${inspectPort}`],
    env: { HUB_OPERATOR_TOKEN: operatorToken },
  })
  await hub.tenant(tenant)
  const account = await hubCommand<{ client_id: string; client_secret: string }>(
    hub.dataDir,
    ...['service-account', 'create', '--tenant', tenant, '--name', 'heavy', '--scope', scopeNames.join(' ')],
  )
  const credentials = { tenant, clientId: account.client_id, clientSecret: account.client_secret }
  const bearer = { authorization: `Bearer ${await accessToken(hub.url, credentials)}`, 'x-service-tenant': tenant }
  const agent = new Agent({ connections: 8 })
  let keys = 0

  async function send({ method, path, text, headers }: Omit<Sent, 'operation' | 'shape'>, zip = true) {
    const answer = await request(`${hub.url}${path}`, {
      dispatcher: agent,
      method: method as 'POST',
      body: zip ? gzipSync(text, { level: 1 }) : text,
      headers: {
        'content-type': 'application/json',
        ...(zip && { 'content-encoding': 'gzip' }),
        'idempotency-key': `heavy-${keys++}`,
        ...headers,
      },
    })
    return { status: answer.statusCode, body: await answer.body.text() }
  }

  const inspector = await inspectProcess(inspectPort)
  await inspector.evaluate(watchTurns)
  const reset = () => inspector.evaluate('globalThis.turns.begin()')
  const blockedMs = () => inspector.evaluate<number>('globalThis.turns.end()')

  await reset()
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const idle = rounded(await blockedMs())
  say(
    `at rest the longest turn takes ${idle} ms, load average ${loadavg()
      .map((each) => rounded(each))
      .join(' ')}`,
  )

  const configured = await send({
    ...{ method: 'POST', path: '/api/v1/identity/scim/configure', headers: bearer },
    text: JSON.stringify({ mode: 'push', group_archetype_map: [] }),
  })
  const scimHeaders = { authorization: `Bearer ${JSON.parse(configured.body).bearer_token}` }
  const scim = `/scim/v2/${tenant}`
  const group = await send({
    ...{ method: 'POST', path: `${scim}/Groups`, headers: scimHeaders },
    text: JSON.stringify({ displayName: 'heavy' }),
  })
  const groupId = JSON.parse(group.body).id as string

  /** All bodies of one round, each made anew. */
  function* bodiesOfRound(): Generator<Sent> {
    const special: Record<string, Record<string, string>> = {
      ingestBatch: batchShapes(),
      writeRecord: recordShapes(),
      ingestEvent: eventShapes(),
      ...listShapes(),
    }
    for (const [operation, declared] of Object.entries<Operation>(operations)) {
      if (declared.body === undefined || operation === 'receiveInbound') continue
      // Configured above, and needed below.
      if (['rotateScimToken', 'destroyContentKeys'].includes(operation)) continue
      const path = declared.path.replace('{slug}', tenant).replaceAll(/\{\w+\}/g, 'heavy')
      const headers = path.startsWith('/api/v1/operator/') ? { authorization: `Bearer ${operatorToken}` } : bearer
      const common = { operation, method: declared.method, path, headers }
      for (const [shape, text] of Object.entries({ ...shapesOf(bodyBounds[declared.body]), ...special[operation] })) {
        yield { ...common, shape, text }
      }
    }
    for (const { method, path, shape, text } of scimShapes(groupId)) {
      yield {
        operation: `SCIM ${method} ${path.split('/')[1]}`,
        shape,
        method,
        path: `${scim}${path}`,
        text,
        headers: scimHeaders,
      }
    }
  }

  const only = run.flag('operation')
  const found = new Map<string, { sent: Sent; status: number; blocks: number[] }>()
  for (let round = 0; round < run.rounds; round++) {
    for (const sent of bodiesOfRound()) {
      if (only !== undefined && !only.split(',').includes(sent.operation)) continue
      await inspector.collectGarbage()
      await reset()
      const { status } = await send(sent)
      const key = `${sent.operation} ${sent.shape}`
      const entry = found.get(key) ?? { sent, status, blocks: [] }
      entry.blocks.push(await blockedMs())
      found.set(key, entry)
      if (status >= 500 || status === 413 || status === 429) throw new Error(`${key}: answered ${status}`)
    }
    say(
      `round ${round + 1}: load average ${loadavg()
        .map((each) => rounded(each))
        .join(' ')}`,
    )
  }
  const measured = [...found.values()].map(({ sent, status, blocks }) => ({
    operation: sent.operation,
    shape: sent.shape,
    MB: rounded(sent.text.length / 1e6),
    answer: status,
    'block ms': rounded(median(blocks)),
    'from ms': rounded(Math.min(...blocks)),
    'to ms': rounded(Math.max(...blocks)),
  }))
  measured.sort((a, b) => b['block ms'] - a['block ms'])
  const worst = [...Map.groupBy(measured, ({ operation }) => operation).values()].map(([first]) => first!)

  const attack = await underAttack(hub.pid, (sent) => send(sent), bearer, `${hub.url}/v1/health`, run.quick ? 1 : 5)
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
        target: 50,
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
      `A block is the processor time of the main thread in one turn of its event loop; at rest the longest was ${idle} ms. ` +
        `The load average of the machine was ${loadavg()
          .map((each) => rounded(each))
          .join(', ')} at the end.`,
    ],
  }
}

/** The bodies of the attack, which are refused, beside health checks. */
async function underAttack(
  pid: number,
  send: (sent: Omit<Sent, 'operation' | 'shape'>) => Promise<{ status: number }>,
  headers: Record<string, string>,
  healthUrl: string,
  rounds: number,
) {
  const batch = { method: 'POST', path: '/api/v1/telemetry/events:batch', headers }
  const member = (event: number) => (_: unknown, at: number) => `"${event.toString(36)}_${at.toString(36)}":0`
  const event = (_: unknown, at: number) => `{${Array.from({ length: 1000 }, member(at)).join(',')}}`
  const attacks = {
    '1.3 million members': { ...batch, text: `{"events":[${Array.from({ length: 1300 }, event).join(',')}]}` },
    '5.3 million empty arrays': { ...batch, text: `{"events":[${'[],'.repeat(5_300_000)}[]]}` },
    'a record of 523,000 zeros': {
      ...{ method: 'POST', path: '/api/v1/hub/records', headers },
      text: `{"record_type":"artifact","title":"x","content":[${'0,'.repeat(522_999)}0]}`,
    },
  }
  let rssMb = 0
  const rows: Row[] = []
  for (const [name, sent] of Object.entries(attacks)) {
    let ended = false
    const healthMs: number[] = []
    const watching = (async () => {
      while (!ended) {
        const began = performance.now()
        await (await fetch(healthUrl)).text()
        healthMs.push(performance.now() - began)
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        rssMb = Math.max(rssMb, Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1000)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const statuses = new Set<number>()
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(sent)))
      for (const { status } of answers) statuses.add(status)
    }
    ended = true
    await watching
    rows.push({
      attack: name,
      requests: rounds * 8,
      answers: [...statuses].join(', '),
      'health ms, median': rounded(median(healthMs)),
      'health ms, longest': rounded(Math.max(...healthMs)),
      'RSS MB so far': Math.round(rssMb),
    })
  }
  return { rssMb: Math.round(rssMb), rows }
}

await runFigure({
  name: 'bodies',
  title: 'The worst body of every operation',
  seconds: 1,
  rounds: 3,
  flags: ['operation'],
  measure,
})
