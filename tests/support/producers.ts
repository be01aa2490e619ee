import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { type HubClient, HubError } from '../../sdk/typescript/src/index.ts'
import { event } from '../telemetry/events.ts'
import { scaled } from './machine-speed.ts'
import { storedTelemetry } from './stored-telemetry.ts'

const producersMin = 4
const eventsPerBatch = 20
/** Milliseconds between two batches of a producer, so that the machine is not the limit. */
const pauseMs = 20
/** More than PostgreSQL lets a transaction idle whose client is cut off. */
const progressMsMax = scaled(90_000)

/**
 * Sends batches of events from several producers until they are stopped. Each batch is repeated under its key until it
 * is acknowledged.
 *
 * @param prefix of the batches' names and keys, so that several runs can share a tenant
 */
export function startProducers(client: HubClient, prefix: string, producers = producersMin) {
  const acknowledged: string[] = []
  let isOver = false
  async function send(batch: string): Promise<void> {
    const events = Array.from({ length: eventsPerBatch }, (_, at) => event({ metadata: { batch, at } }))
    while (true) {
      try {
        await client.post('/api/v1/telemetry/events:batch', { body: { events }, idempotencyKey: batch })
        acknowledged.push(...events.map((_, at) => `${batch}.${at}`))
        return
      } catch (error) {
        if (error instanceof HubError && error.status < 500) throw error
        // The client has given up: the fault lasts longer than it waits.
        await delay(100)
      }
    }
  }
  const working = Promise.all(
    Array.from({ length: producers }, async (_, producer) => {
      for (let count = 0; !isOver; count++) {
        await send(`${prefix}/${producer}.${count}`)
        await delay(pauseMs)
      }
    }),
  )
  let refusal: unknown
  working.catch((error: unknown) => {
    refusal = error
  })
  return {
    /** Resolves when as many batches were acknowledged as there are producers, from now on. */
    async progress(): Promise<void> {
      const enough = acknowledged.length + producers * eventsPerBatch
      await expect
        .poll(() => refusal ?? acknowledged.length >= enough, { interval: 20, timeout: progressMsMax })
        .toBe(true)
    },
    /** Waits for the last batches. Returns the ids that were acknowledged and those that are stored. */
    async stop(): Promise<{ acknowledged: string[]; found: string[] }> {
      isOver = true
      await working
      const stored = (await storedTelemetry(client)).filter(({ metadata }) => metadata!.batch.startsWith(`${prefix}/`))
      return { acknowledged, found: stored.map(({ metadata }) => `${metadata!.batch}.${metadata!.at}`) }
    },
  }
}
