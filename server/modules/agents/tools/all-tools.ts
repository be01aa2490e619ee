import { getRecord, relatedRecords, verifyRecord } from './record-tools.ts'
import { searchRecords } from './search-tool.ts'
import type { Tool } from './tool.ts'
import { listSkills, telemetrySummary } from './usage-tools.ts'
import { recordDecision, recordOutput } from './write-tools.ts'

export const allTools: readonly Tool[] = [
  searchRecords,
  getRecord,
  relatedRecords,
  verifyRecord,
  recordDecision,
  recordOutput,
  telemetrySummary,
  listSkills,
]
