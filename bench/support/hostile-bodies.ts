// Sends bodies far beyond their bounds, several at a time, beside health checks.
import { readFile } from 'node:fs/promises'
import type { Row } from './figure.ts'
import type { HeavyRequest } from './heavy-requests.ts'
import { median, rounded } from './statistics.ts'

const atOnce = 8
const pauseMs = 20

/** @param send sends one request, which is rejected */
export async function underHostileBodies(
  hub: { pid: number; url: string },
  send: (request: HeavyRequest) => Promise<{ status: number }>,
  headers: Record<string, string>,
  rounds: number,
): Promise<{ rssMb: number; rows: Row[] }> {
  let rssMb = 0
  const rows: Row[] = []
  for (const request of hostileRequests(headers)) {
    let ended = false
    const healthMs: number[] = []
    const watching = (async () => {
      while (!ended) {
        const began = performance.now()
        await (await fetch(`${hub.url}/v1/health`)).text()
        healthMs.push(performance.now() - began)
        const status = await readFile(`/proc/${hub.pid}/status`, 'utf8')
        rssMb = Math.max(rssMb, Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1000)
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    })()
    const statuses = new Set<number>()
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: atOnce }, () => send(request)))
      for (const { status } of answers) statuses.add(status)
    }
    ended = true
    await watching
    rows.push({
      attack: request.shape,
      requests: rounds * atOnce,
      answers: [...statuses].join(', '),
      'health ms, median': rounded(median(healthMs)),
      'health ms, longest': rounded(Math.max(...healthMs)),
      'RSS MB so far': Math.round(rssMb),
    })
  }
  return { rssMb: Math.round(rssMb), rows }
}

function hostileRequests(headers: Record<string, string>): HeavyRequest[] {
  const batch = { operation: 'ingestBatch', method: 'POST', path: '/api/v1/telemetry/events:batch', headers }
  const member = (event: number) => (_: unknown, at: number) => `"${event.toString(36)}_${at.toString(36)}":0`
  const event = (_: unknown, at: number) => `{${Array.from({ length: 1000 }, member(at)).join(',')}}`
  return [
    {
      ...batch,
      shape: '1.3 million members',
      text: `{"events":[${Array.from({ length: 1300 }, event).join(',')}]}`,
    },
    { ...batch, shape: '5.3 million empty arrays', text: `{"events":[${'[],'.repeat(5_300_000)}[]]}` },
    {
      ...{ operation: 'writeRecord', method: 'POST', path: '/api/v1/hub/records', headers },
      shape: 'a record of 523,000 zeros',
      text: `{"record_type":"artifact","title":"x","content":[${'0,'.repeat(522_999)}0]}`,
    },
  ]
}
