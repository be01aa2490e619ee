import type { DemoDecision } from './record-types.ts'
import { storyDecisions, tradeDecisions } from './trade-decisions.ts'
import { workDecisions } from './work-decisions.ts'

/** Decisions of the company, each with its sources. */
export const decisions: readonly DemoDecision[] = [...storyDecisions, ...workDecisions, ...tradeDecisions]
