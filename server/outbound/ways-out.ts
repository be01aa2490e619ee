import {
  publishAnswerSeconds,
  rosterPullAnswerBytesMax,
  rosterPullAnswerSeconds,
  webhookAnswerSeconds,
} from '../../contract/limits.ts'
import type { Config } from '../config.ts'
import { createOutbound, type Outbound } from './outbound.ts'

/** One guard for all, and for each what its receivers have: time, and the size of an answer. */
export interface WaysOut {
  /** To whatever answers soon and shortly. */
  common: Outbound
  /** A page of a company's directory takes longer, and is larger, than what else is fetched. */
  directory: Outbound
  publishing: Outbound
  webhooks: Outbound
  close(): Promise<void>
}

export function openWaysOut(config: Pick<Config, 'environment' | 'outboundAllow'>): WaysOut {
  const ways = {
    common: createOutbound(config),
    directory: createOutbound(config, {
      timeoutMs: rosterPullAnswerSeconds * 1000,
      answerBytesMax: rosterPullAnswerBytesMax,
    }),
    publishing: createOutbound(config, { timeoutMs: publishAnswerSeconds * 1000 }),
    webhooks: createOutbound(config, { timeoutMs: webhookAnswerSeconds * 1000 }),
  }
  return {
    ...ways,
    close: async () => {
      await Promise.all(Object.values(ways).map((way) => way.close()))
    },
  }
}
