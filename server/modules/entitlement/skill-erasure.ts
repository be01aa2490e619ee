import type { ErasureParticipant } from '../hub/erasure/erasure-types.ts'
import { forgetNames } from './entitlement-store.ts'

export function createSkillErasure(): ErasureParticipant {
  return {
    name: 'names of skills',
    async forget(tx, records) {
      const definitions = records.filter((record) => record.record_type === 'skill_definition')
      if (definitions.length === 0) return
      await forgetNames(
        tx,
        definitions.map((record) => record.record_id),
      )
    },
  }
}
