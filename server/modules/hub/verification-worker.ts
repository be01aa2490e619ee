import { checkRecords } from './batch-verifier.ts'

// The entry of a verification thread: a task in, the checks of its records out.
export default checkRecords
