/** Literal values and formats of the interface and decisions section 1. */

export const recordTypes = [
  'output',
  'artifact',
  'decision',
  'governance_event',
  'telemetry_event',
  'skill_definition',
] as const
export type RecordType = (typeof recordTypes)[number]

export const skillStates = ['draft', 'published', 'deprecated', 'retired'] as const
export type SkillState = (typeof skillStates)[number]

export const tenantModes = ['A', 'B', 'C'] as const
export type TenantMode = (typeof tenantModes)[number]

export const schemaVersion = '1.0'

const platforms = ['claude', 'chatgpt', 'gemini', 'copilot', 'slack'] as const

export const patterns = {
  tenantSlug: '^[a-z][a-z0-9-]{1,62}$',
  identifier: '^[A-Za-z0-9_.:-]{1,128}$',
  llmModel: '^[A-Za-z0-9_.:/@-]{1,128}$',
  userId: '^user:[^\\s]{1,254}$',
  llmPlatform: `^(${platforms.join('|')}|custom:[a-z0-9][a-z0-9._-]{0,62})$`,
  /** Semantic Versioning 2.0.0, the expression its specification suggests. */
  semver:
    '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-((0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)(\\.(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*))*))?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$',
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  idempotencyKey: '^[\\x21-\\x7e]{1,255}$',
} as const
