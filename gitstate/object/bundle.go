package object
