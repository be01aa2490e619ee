import { type Attack, rollBack, rollBackAndGrow } from './attack-ways.ts'

/** All of a tenant, at once. */
export const attacksByRollBack: readonly Attack[] = [
  {
    name: 'Roll the database back to yesterday',
    ways: { tables: rollBack },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Roll the database back, and let the log grow beyond the stored checkpoints',
    ways: { tables: rollBackAndGrow },
    foundBy: ['sweep', 'audit'],
  },
]
