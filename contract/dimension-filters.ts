import { Type } from 'typebox'
import { patterns } from './literals.ts'

const filter = (pattern: string, example: string) =>
  Type.Optional(Type.String({ pattern, description: 'Only events with this value', examples: [example] }))

/** The filters by dimension, of every query for telemetry and of budgets. */
export const dimensionFilters = {
  skill_id: filter(patterns.identifier, 'summarise-ticket'),
  archetype_id: filter(patterns.identifier, 'support-agent'),
  user_id: filter(patterns.userId, 'user:kim@example.com'),
  llm_platform: filter(patterns.llmPlatform, 'claude'),
  llm_model: filter(patterns.llmModel, 'claude-sonnet-4-5'),
}
