package refs
