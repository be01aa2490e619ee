import { LRUCache } from 'lru-cache'
import type { AttributeValue, OtlpItem } from '../otlp-types.ts'
import { eventNameAttribute } from './attribute-names.ts'

const sessionsMax = 50_000
/** Milliseconds after which the last activation of a session no longer counts. */
const sessionMs = 24 * 3_600_000

/** The names that Claude Code sends instead of a skill's own, unless `OTEL_LOG_TOOL_DETAILS=1` is set. */
const masked: ReadonlySet<unknown> = new Set(['custom_skill', 'third-party'])

export function isMaskedSkill(name: AttributeValue | undefined): boolean {
  return masked.has(name)
}

/** Returns the event that a log record of Claude Code reports, if it concerns requests or skills. */
export function claudeEventOf({ name, attributes }: OtlpItem): 'api_request' | 'skill_activated' | undefined {
  const isClaude = name.startsWith('claude_code.')
  const event = attributes.get(eventNameAttribute) ?? name
  const short = String(event).replace(/^claude_code\./, '')
  if (!isClaude && short === event) return undefined
  return short === 'api_request' || short === 'skill_activated' ? short : undefined
}

/** The last skill that each session of one tenant activated, as far as this process received it. */
export interface SessionSkills {
  activated(sessionId: string, skill: AttributeValue | undefined): void
  lastOf(sessionId: string): string | undefined
}

/** Remembers the skills of sessions of all tenants. A masked name makes the session's skill unknown. */
export function createSessionSkills(): (tenantId: string) => SessionSkills {
  const skills = new LRUCache<string, string>({ max: sessionsMax, ttl: sessionMs })
  return (tenantId) => {
    const keyOf = (sessionId: string) => `${tenantId} ${sessionId}`
    return {
      activated(sessionId, skill) {
        if (sessionId === '') return
        if (skill === undefined || isMaskedSkill(skill)) skills.delete(keyOf(sessionId))
        else skills.set(keyOf(sessionId), String(skill))
      },
      lastOf: (sessionId) => skills.get(keyOf(sessionId)),
    }
  }
}
