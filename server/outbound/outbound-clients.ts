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

/** One guard and one resolver of names for all, and for each what its receivers have: time, and the size of an answer. */
export interface OutboundClients {
  /** To whatever answers soon and shortly. */
  common: Outbound
  /** A page of a company's directory takes longer, and is larger, than what else is fetched. */
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
