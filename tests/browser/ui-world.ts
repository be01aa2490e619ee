import { startHub, type TestHub, type TestHubOptions } from '../support/hub.ts'
import { addWebhooks, connect, type Outside, startOutside, type WorldWebhooks } from './world/connections.ts'
import { hire, organise } from './world/organisation.ts'
import { exportRecords, type WorldRecords, writeRecords } from './world/records.ts'
import { sendTelemetry } from './world/telemetry.ts'

export { roleEmails } from './world/fixtures.ts'

/** A hub whose tenant acme is full of what a company would have, while globex has nothing yet. */
export interface UiWorld {
  hub: TestHub
  outside: Outside
  records: WorldRecords
  webhooks: WorldWebhooks
  stop(): Promise<void>
}

/** Starts it with the work that goes on in the background, but for the sweep. It may call 127.0.0.1 and localhost. */
export async function startUiWorld({
  events = 4000,
  ...options
}: TestHubOptions & { events?: number } = {}): Promise<UiWorld> {
  const settings = { HUB_OUTBOUND_ALLOW: '127.0.0.1,localhost', ...options.settings }
  const hub = await startHub({ ...options, settings })
  const outside = await startOutside(hub.baseUrl)
  const { log, rollups, distribution, webhooks: outgoing } = hub.modules
  log.start()
  rollups.folder.start()
  distribution.publisher.start()
  outgoing.start()
  await organise(hub)
  await hire(hub)
  await sendTelemetry(hub, events)
  const records = await writeRecords(hub)
  await connect(hub, outside)
  const [webhooks] = await Promise.all([addWebhooks(hub, outside), exportRecords(hub)])
  return {
    ...{ hub, outside, records, webhooks },
    async stop() {
      await Promise.all([distribution.publisher.stop(), outgoing.stop(), rollups.folder.stop(), log.stop()])
      await hub.stop()
      await outside.stop()
    },
  }
}
