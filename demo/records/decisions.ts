import type { DemoDecision } from './record-types.ts'
import { storyDecisions } from './story-decisions.ts'

/** Decisions of the company, each with what it rests on. */
export const decisions: readonly DemoDecision[] = [...storyDecisions]
