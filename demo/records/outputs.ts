import type { DemoOutput } from './record-types.ts'
import { supportOutputs } from './support-outputs.ts'

/** Results of skills, each with what it draws on. */
export const outputs: readonly DemoOutput[] = [...supportOutputs]
