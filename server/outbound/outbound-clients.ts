import {
  publishAnswerSeconds,
  rosterPullAnswerBytesMax,
  rosterPullAnswerSeconds,
  webhookAnswerSeconds,
} from '../../contract/limits.ts'
import type { Config } from '../config.ts'
import { readAllowList } from './allow-list.ts'
import { createNameResolver } from './name-resolver.ts'
import { createOutbound, type Outbound } from './outbound.ts'

/**
 * Clients that share one guard and one name resolver. Each has the timeout and the response size that its receivers
 * need.
 */
export interface OutboundClients {
  /** For receivers with short responses and little delay. */
  common: Outbound
  /** For a company's directory: its pages take longer, and are larger, than other responses. */
  directory: Outbound
  publishing: Outbound
  webhooks: Outbound
  close(): Promise<void>
}

export function createOutboundClients(config: Pick<Config, 'environment' | 'outboundAllow'>): OutboundClients {
  const resolve = createNameResolver(readAllowList(config.outboundAllow))
  const ways = {
    common: createOutbound(config, { resolve }),
    directory: createOutbound(config, {
      resolve,
      timeoutMs: rosterPullAnswerSeconds * 1000,
      answerBytesMax: rosterPullAnswerBytesMax,
    }),
    publishing: createOutbound(config, { resolve, timeoutMs: publishAnswerSeconds * 1000 }),
    webhooks: createOutbound(config, { resolve, timeoutMs: webhookAnswerSeconds * 1000 }),
  }
  return {
    ...ways,
    close: async () => {
      await Promise.all(Object.values(ways).map((way) => way.close()))
    },
  }
}
