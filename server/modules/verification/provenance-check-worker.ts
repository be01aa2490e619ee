import { checkRecords } from './provenance-check.ts'

// The entry of a verification thread: receives a task, returns the checks of its records.
export default checkRecords
