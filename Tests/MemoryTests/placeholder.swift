import Memory
