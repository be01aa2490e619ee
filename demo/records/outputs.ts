import { officeOutputs } from './office-outputs.ts'
import type { DemoOutput } from './record-types.ts'
import { supportOutputs } from './support-outputs.ts'
import { technicalOutputs } from './technical-outputs.ts'

/** Results of skills, each with its sources. */
export const outputs: readonly DemoOutput[] = [...supportOutputs, ...technicalOutputs, ...officeOutputs]
